import { once } from "node:events";
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ApprovalApi } from "../../features/approvals/index.ts";
import { StrataError } from "../../protocol/index.ts";
import { HERE, httpFixture, TOKEN } from "./index.contract.ts";
import { createServer, errorResponse, isSameToken, listen, operatorToken, siteOf } from "./index.ts";

describe("the server", () => {
  it("tells anybody that it is well, and what it serves only to who has the token", async () => {
    const { ask } = await httpFixture();
    const open = await ask("GET /health", { token: null });
    expect(open.status).toBe(200);
    expect(open.headers.get("content-type")).toContain("application/json");
    expect(await open.json()).toEqual({ status: "ok", version: "1.2.3" });
    expect(await (await ask("GET /health")).json()).toEqual({
      status: "ok",
      version: "1.2.3",
      agents: [],
      data: "/data",
      turns: { running: 0, waiting: 0 },
    });
  });

  it("says at its root what it is", async () => {
    const { ask } = await httpFixture();
    const root = await ask("GET /", { token: null });
    const said = await root.text();
    expect(said).toContain("Strata 1.2.3 serves here.");
    // Next steps: each address as it can be called, and the token's location.
    for (const path of ["/health ", "/v1/agents ", "/v1/openapi.json ", "/v1/agents\n"])
      expect(said).toMatch(new RegExp(` http://[\\w.:]+${path}`));
    expect(said).toContain("operator.token");
    expect(said).toContain("`strata chat AGENT`");
  });

  it("lets no page of another site show or keep an answer", async () => {
    const { ask } = await httpFixture();
    for (const line of ["GET /", "GET /health", "GET /v1/agents", "GET /nowhere"]) {
      const { headers } = await ask(line);
      expect(headers.get("cache-control"), line).toBe("no-store");
      expect(headers.get("x-content-type-options"), line).toBe("nosniff");
      expect(headers.get("content-security-policy"), line).toContain("frame-ancestors 'none'");
      expect(headers.get("access-control-allow-origin"), line).toBeNull();
    }
  });

  it("tells nothing of an error that nobody foresaw", async () => {
    const response = errorResponse(new Error("password 1234"));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("1234");
  });

  it("waits for an approved call that runs when it is closed, and tells it to stop", async () => {
    const { parts, store } = await httpFixture();
    onTestFinished(() => store.close());
    const order: string[] = [];
    const begun = Promise.withResolvers<void>();
    const decide: ApprovalApi["decide"] = async (_actor, id, { signal }) => {
      if (signal === undefined) throw new Error("nobody could stop it");
      begun.resolve();
      await once(signal, "abort");
      await setImmediate();
      order.push("decided");
      throw new StrataError("lease_lost", `${id} is over`);
    };
    const own = createServer({
      ...parts,
      runtime: { ...parts.runtime, use: (api) => ({ ...parts.runtime.use(api), decide }) },
    });
    const answer = own.request("/v1/approvals/apr_00000000000000000000000000/approve", {
      method: "POST",
      headers: { host: HERE, authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: "{}",
    });
    await begun.promise;
    await own.close().then(() => order.push("closed"));
    expect(order).toEqual(["decided", "closed"]);
    expect((await answer).status).toBe(409);
  });

  it("listens, refuses a port that is taken with a sentence, and frees it when it is closed", async () => {
    const { server } = await httpFixture([], { site: siteOf({ host: "127.0.0.1", port: 80 }) });
    const first = await listen(() => server, { host: "127.0.0.1", port: 0 });
    onTestFinished(() => first.close());
    const port = Number(new URL(first.url).port);
    await expect(listen(() => server, { host: "127.0.0.1", port })).rejects.toMatchObject({
      code: "port_taken",
      message: expect.stringContaining(
        `port ${port} of 127.0.0.1; stop the other program, or choose a port with --port`,
      ),
    });
    await first.close();
    const again = await listen(() => server, { host: "127.0.0.1", port });
    await again.close();
  });

  it("does not listen when it cannot be made", async () => {
    const making = (): never => {
      throw new Error("no server");
    };
    await expect(listen(making, { host: "127.0.0.1", port: 0 })).rejects.toThrow("no server");
  });
});

describe("the operator's token", () => {
  const folder = (): string => mkdtempSync(join(tmpdir(), "strata-token-"));
  const random = (n: number): Uint8Array => new Uint8Array(n).fill(255);

  it("is made once, for this user alone, and read afterwards", () => {
    const file = join(folder(), "operator.token");
    const token = operatorToken(file, random);
    expect(token).toBe(`sk_strata_${"_".repeat(42)}8`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(operatorToken(file, () => new Uint8Array(32))).toBe(token);
    expect(readFileSync(file, "utf8")).toBe(`${token}\n`);
  });

  it("is made together with its folder, which a store on PostgreSQL does not make", () => {
    const file = join(folder(), "data", "operator.token");
    expect(operatorToken(file, random)).toMatch(/^sk_strata_/);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
  });

  it("is closed to others again where a copy opened it", () => {
    const file = join(folder(), "operator.token");
    writeFileSync(file, `sk_strata_${"a".repeat(43)}\n`, { mode: 0o644 });
    operatorToken(file, random);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("is refused where the file holds none, or no file can be", () => {
    const file = join(folder(), "operator.token");
    writeFileSync(file, "\n");
    expect(() => operatorToken(file, random)).toThrow(`${file} does not contain a token; delete it`);
    expect(() => operatorToken(join(file, "under"), random)).toThrow(/cannot be read \(ENOTDIR\); make yourself/);
    expect(() => operatorToken(join("/dev/null", "folder", "operator.token"), random)).toThrow(/cannot be/);
  });

  it("is the same only when it is the same", () => {
    expect(isSameToken("sk_a", "sk_a")).toBe(true);
    expect(isSameToken("sk_a", "sk_b")).toBe(false);
    expect(isSameToken("sk_a", "sk_a ")).toBe(false);
  });
});

describe("a site", () => {
  it("goes by the names of this machine and its port", () => {
    const { hosts, origins, isLocal } = siteOf({ host: "127.0.0.1", port: 4600 });
    expect(isLocal).toBe(true);
    expect([...hosts]).toEqual(["127.0.0.1:4600", "localhost:4600", "[::1]:4600"]);
    expect([...origins]).toEqual(["http://127.0.0.1:4600", "http://localhost:4600", "http://[::1]:4600"]);
    expect(siteOf({ host: "127.0.0.1", port: 80 }).hosts).toContain("localhost");
  });

  it("goes by the names that the operator gives it", () => {
    const { hosts, origins, isLocal } = siteOf({ host: "0.0.0.0", port: 4600 }, ["Strata.Example.org"]);
    expect(isLocal).toBe(false);
    expect(hosts).toContain("strata.example.org");
    expect(hosts).not.toContain("0.0.0.0:4600");
    expect(origins).toContain("https://strata.example.org");
    expect(siteOf({ host: "192.168.1.5", port: 4600 }).hosts).toContain("192.168.1.5:4600");
  });

  it.each(["http://strata.example.org", "a b", "", "strata.example.org/"])("refuses %j as a host's name", (name) => {
    expect(() => siteOf({ host: "127.0.0.1", port: 1 }, [name])).toThrow("is not a host");
  });
});
