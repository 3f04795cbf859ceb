import { place, project } from "../../../tests/cli/strata.ts";
import { type Case, cli } from "../../../tests/errors/doors.ts";
import { at, HERE, httpFixture, TOKEN } from "../../doors/http/index.contract.ts";

const KEY = "key_01jd8k3v5x9m2q7r4t6w8y0zab";

/** How people meet the errors of this feature, and of the HTTP door beside it, for `tests/errors/errors.test.ts`. */
export const CASES: readonly Case[] = [
  {
    code: "key_not_found",
    when: "no key has that id",
    provoke: async () => {
      const cwd = place();
      await cli(["key", "create", "mia", "--role", "member"], { cwd });
      return cli(["key", "revoke", KEY], { cwd });
    },
    message: [KEY, "`strata key list` or `GET /v1/keys`"],
  },
  {
    code: "keys_missing",
    when: "a server is to listen for other machines, and no key was made",
    provoke: () => cli(["start", "--host", "0.0.0.0", "--port", "0"], { cwd: project() }),
    message: ["other machines can reach 0.0.0.0", "strata key create"],
  },
  {
    code: "body_too_slow",
    when: "a body does not arrive in time",
    provoke: async () => {
      const { server } = await httpFixture([], { bodyTimeout: 10 });
      const headers = { host: HERE, authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
      const init: RequestInit = { method: "POST", headers, body: new ReadableStream(), duplex: "half" };
      const answer = await server.request("/v1/threads", init);
      const body: unknown = await answer.json();
      const [code, retry, text] = ["code", "retry", "message"].map((name) => at(body, "error", name));
      return { door: "http", status: answer.status, code, retry, text: String(text) };
    },
    message: ["within 0.01 seconds", "send it faster"],
  },
];
