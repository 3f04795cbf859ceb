import { AGENT_ROUTES } from "./agent-routes.ts";
import { APPROVAL_ROUTES } from "./approval-routes.ts";
import { CONTACT_ROUTES } from "./contact-routes.ts";
import { CONVERSATION_ROUTES } from "./conversation-routes.ts";
import { EVENT_ROUTES } from "./event-routes.ts";
import { LAYER_ROUTES } from "./layer-routes.ts";
import { LIFE_ROUTES } from "./life-routes.ts";
import { MAIL_ROUTES } from "./mail-routes.ts";
import { MEMORY_ROUTES } from "./memory-routes.ts";
import type { Route } from "./route.ts";
import { SOUL_ROUTES } from "./soul-routes.ts";
import { THREAD_ROUTES } from "./thread-routes.ts";
import { TURN_ROUTES } from "./turn-routes.ts";

/** Every route that takes a token: what is served, what the OpenAPI document tells and what the tests go through. */
export const ROUTES: readonly Route[] = [
  ...AGENT_ROUTES,
  ...LIFE_ROUTES,
  ...LAYER_ROUTES,
  ...SOUL_ROUTES,
  ...CONVERSATION_ROUTES,
  ...MAIL_ROUTES,
  ...THREAD_ROUTES,
  ...EVENT_ROUTES,
  ...TURN_ROUTES,
  ...MEMORY_ROUTES,
  ...APPROVAL_ROUTES,
  ...CONTACT_ROUTES,
];
