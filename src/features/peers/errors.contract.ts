import { project } from "../../../tests/cli/strata.ts";
import { api, type Case, chat, open, site } from "../../../tests/errors/doors.ts";
import { agentName, contactId } from "../../protocol/index.ts";
import { PEER_API } from "./index.ts";

const companionWith = (line: string) =>
  project((text) => text.replace("  companion:\n", `  companion:\n    ${line}\n`));

/** How people meet the errors of this feature, for `tests/errors/errors.test.ts`. */
export const CASES: readonly Case[] = [
  {
    code: "not_an_entry",
    when: "a message goes to an agent that `entry` does not name",
    provoke: () => chat(companionWith("peers: []")),
    message: ["companion cannot be written to from outside", "`entry` in strata.yaml does not name it"],
  },
  {
    code: "no_listener",
    when: "a payload comes from outside that no agent under `entry` takes",
    provoke: async () => {
      const { refused } = await site(companionWith("peers: []"));
      return refused("POST /v1/payloads", { payloadType: "Order", payload: {}, contact: "ann" });
    },
    message: ['payloads of the type "Order"', "declare it as `payload` of an agent that `entry` names"],
  },
  {
    code: "buffer_full",
    when: "an agent has all the conversations that it may have",
    provoke: async () => {
      const { ask, refused } = await site(companionWith("buffer: { threads: 1 }"));
      await ask("POST /v1/threads", { agent: "companion", contact: "ann" });
      return refused("POST /v1/threads", { agent: "companion", contact: "bob" });
    },
    message: ["companion has 1 conversations", "`buffer.threads`", "try again later"],
  },
  {
    code: "thread_full",
    when: "a message goes to a conversation that has all the messages that it may have",
    provoke: async () => {
      const { ask, refused } = await site(companionWith("buffer: { slots: 2 }"));
      const message = { contact: "ann", text: "Hello." };
      await ask("POST /v1/agents/companion/messages", message);
      return refused("POST /v1/agents/companion/messages", message);
    },
    message: ["holds 2 messages", "`buffer.slots`", "start another conversation"],
  },
  {
    code: "thread_pruned",
    when: "a message goes to a conversation that was closed after a warning",
    provoke: async () => {
      const { runtime, operator } = await open(companionWith("buffer: { graceMinutes: 0 }"));
      const conversation = { agent: agentName("companion"), contact: contactId("ann"), channel: "http", key: "main" };
      const thread = await runtime.open(operator, conversation);
      await runtime.use(PEER_API).warn(operator, thread);
      for await (const _ of runtime.run(operator, thread));
      return api(() => runtime.open(operator, conversation));
    },
    message: ["it was closed", "start another conversation"],
  },
];
