import { expect, it } from "vitest";
import type { Model } from "../protocol/index.ts";
import { broken, type localServer, type Piece, refused, stalled, streamed } from "./local-server.contract.ts";
import { eventsOf, failureOf, sampleRequest } from "./model.contract.ts";

/** The key that every provider of these tests is opened with. */
export const KEY = "sk-test-0123456789";

/** A provider on this machine, and a model of it that repeats nothing. */
export interface FailureSetup {
  readonly provider: string;
  readonly model: string;
  readonly server: Awaited<ReturnType<typeof localServer>>;
  readonly open: (url?: string) => Model;
  /** How the provider words a refusal. */
  readonly refusal: (message: string) => unknown;
  /** The bytes of an answer up to its first word. */
  readonly begun: readonly Piece[];
  /** The path of its one address. */
  readonly path: string;
}

const request = sampleRequest("Hello");

/** What every provider's failures become, over HTTP. */
export function wireFailures(setup: FailureSetup): void {
  statusFailures(setup);
  streamFailures(setup);
  placeFailures(setup);
}

function statusFailures({ server, open, refusal, provider, model }: FailureSetup): void {
  const again = "wait a little and run the turn again";
  it.each([
    [400, "model_refused", "refused the request", "change what is sent: the same request will be refused again"],
    [401, "key_refused", "refused the key", "check the key, and that it may use this model"],
    [402, "model_refused", "refused the request", "check the account's balance"],
    [403, "key_refused", "refused the key", "check the key, and that it may use this model"],
    [404, "model_refused", "refused the request", "check the model's name and the provider's address"],
    [413, "model_refused", "refused the request", "send less: lower the agent's total budget"],
    [408, "model_failed", "did not answer", again],
    [
      429,
      "rate_limited",
      "received too many requests",
      "wait a minute and run the turn again, or raise the account's limits",
    ],
    [500, "model_failed", "did not answer", again],
    [503, "model_failed", "did not answer", again],
    [529, "model_failed", "did not answer", again],
  ])("with status %i are %s", async (status, code, verb, step) => {
    server.say(refused(status, refusal(`no ${KEY} today`)));
    const failure = await failureOf(open(), request);
    expect(failure.code).toBe(code);
    expect(failure.message).toBe(`${provider} ${verb} for ${model} (status ${status}: no … today); ${step}`);
    expect(failure.details).toEqual({ provider, model, status });
    // The package's own error holds the whole request: nothing of it may travel with ours.
    expect(JSON.stringify(failure)).not.toContain("Hello");
    expect(failure.cause).toBeUndefined();
    // The package repeats nothing by itself.
    expect(server.received).toHaveLength(1);
  });

  it("are reported without a message if the answer is not JSON", async () => {
    server.say(refused(502, "<html>Bad gateway</html>"));
    expect(await failureOf(open(), request)).toMatchObject({ code: "model_failed", details: { status: 502 } });
  });
}

function streamFailures({ server, open, begun }: FailureSetup): void {
  it("are one model_failed when the stream ends or breaks in the middle", async () => {
    for (const answer of [streamed(), streamed(...begun), broken(), broken(...begun)]) {
      server.say(answer);
      expect(await failureOf(open(), request)).toMatchObject({ code: "model_failed" });
    }
  });

  it("say so when the connection breaks", async () => {
    for (const answer of [broken(), broken(...begun)]) {
      server.say(answer);
      expect((await failureOf(open(), request)).message).toContain("the connection broke off");
    }
  });

  it("are model_failed when bytes come that cannot be read, and nothing of them is repeated", async () => {
    for (const before of [[], begun]) {
      for (const garbage of ["data: {private words\n\n", "\u0000\u0001private\n\n", "private".repeat(10_000)]) {
        server.say(streamed(...before, garbage));
        const failure = await failureOf(open(), request);
        expect(failure.code).toBe("model_failed");
        expect(JSON.stringify([failure.message, failure.details])).not.toContain("private");
      }
    }
  });

  it("are turn_cancelled when the provider accepts and says nothing, and it is let go", async () => {
    const gone = Promise.withResolvers<void>();
    const stop = new AbortController();
    server.say((response) => {
      stalled(gone.resolve)(response);
      stop.abort();
    });
    expect(await failureOf(open(), request, stop.signal)).toMatchObject({ code: "turn_cancelled" });
    await gone.promise;
  });

  it("are turn_cancelled when a stream is stopped that would never end", async () => {
    const gone = Promise.withResolvers<void>();
    const stop = new AbortController();
    server.say(stalled(gone.resolve, ...begun));
    const told: string[] = [];
    const sending = async () => {
      for await (const event of open().send(request, { signal: stop.signal })) {
        told.push(event.type);
        stop.abort();
      }
    };
    await expect(sending()).rejects.toMatchObject({ code: "turn_cancelled" });
    expect(told).toEqual(["text-delta"]);
    await gone.promise;
  });
}

function placeFailures({ server, open, path }: FailureSetup): void {
  it("follow no redirect: the key and the prompt go to the address that was configured", async () => {
    server.say(refused(307, "", { location: "/elsewhere?key=secret" }));
    const failure = await failureOf(open(), request);
    expect(failure.code).toBe("model_refused");
    expect(failure.message).toContain(
      `it sends its callers on to ${new URL(server.url).origin}); set the provider's url`,
    );
    expect(server.received.map(({ url }) => url)).toEqual([path]);
  });

  it("name the address when nobody answers there", async () => {
    const failure = await failureOf(open("http://127.0.0.1:1/v1"), request);
    expect(failure.code).toBe("model_failed");
    expect(failure.message).toContain("check the network and the provider's address");
  });
}

/** A key that the provider repeats in its answer would be the model's own words; nothing of ours may hold it. */
export async function keyNeverLeaks(model: Model): Promise<void> {
  expect(JSON.stringify(await eventsOf(model, request))).not.toContain(KEY);
}
