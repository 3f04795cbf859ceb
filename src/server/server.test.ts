import { describe, expect, it, onTestFinished } from "vitest";
import { createServer, errorResponse, listen } from "./index.ts";

const HEALTH = {
  status: "ok",
  version: "1.2.3",
  agents: [{ name: "companion", version: "abc", model: "rehearsal" }],
  data: "/data",
} as const;
const server = createServer({ health: () => HEALTH });

describe("the server", () => {
  it("tells its health as JSON", async () => {
    const response = await server.request("/health");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(await response.json()).toEqual(HEALTH);
  });

  it("says in one line what it is", async () => {
    expect(await (await server.request("/")).text()).toBe("Strata 1.2.3 serves here. See /health.\n");
  });

  it("answers an unknown path with 404 and a sentence", async () => {
    const response = await server.request("/nowhere", { method: "POST" });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining("POST /nowhere") } });
  });

  it("tells nothing of an error that nobody foresaw", async () => {
    const response = errorResponse(new Error("password 1234"));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("1234");
  });

  it("listens, refuses a port that is taken with a sentence, and frees it when it is closed", async () => {
    const first = await listen(server, { host: "127.0.0.1", port: 0 });
    onTestFinished(() => first.close());
    expect(await (await fetch(`${first.url}/health`)).json()).toEqual(HEALTH);
    const port = Number(new URL(first.url).port);
    await expect(listen(server, { host: "127.0.0.1", port })).rejects.toMatchObject({
      code: "port_taken",
      message: expect.stringContaining(
        `port ${port} of 127.0.0.1; stop the other program, or choose a port with --port`,
      ),
    });
    await first.close();
    const again = await listen(server, { host: "127.0.0.1", port });
    await again.close();
  });
});
