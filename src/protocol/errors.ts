import type { Brand } from "./brand.ts";

/**
 * The errors of the core; a feature makes its own with `errorKind`. The doors read status, exit code and retry from the error itself.
 * `status` is HTTP's, `exit` the program's, `retry` whether the same call may succeed later, `message` the sentence in general.
 */
export const ERRORS = {
  invalid_id: { status: 400, exit: 2, retry: false, message: "an id or name has the wrong form" },
  invalid_input: { status: 400, exit: 2, retry: false, message: "an argument or body has the wrong form" },
  invalid_line: { status: 400, exit: 2, retry: false, message: "a line of an input file cannot be read" },
  file_not_found: { status: 404, exit: 3, retry: false, message: "a named file does not exist or cannot be read" },
  route_not_found: { status: 404, exit: 3, retry: false, message: "nothing is served at that path" },
  method_not_allowed: { status: 405, exit: 2, retry: false, message: "that path is served by another method" },
  body_too_large: { status: 413, exit: 2, retry: false, message: "a body is too large" },
  body_too_slow: { status: 408, exit: 2, retry: true, message: "a body did not arrive in time" },
  body_not_json: { status: 415, exit: 2, retry: false, message: "a body is not JSON" },
  config_missing: { status: 404, exit: 3, retry: false, message: "there is no strata.yaml in the folder" },
  config_invalid: { status: 400, exit: 4, retry: false, message: "strata.yaml is not valid" },
  module_failed: { status: 400, exit: 4, retry: false, message: "a module named in strata.yaml cannot be used" },
  secret_missing: {
    status: 400,
    exit: 4,
    retry: false,
    message: "a secret named in strata.yaml is not in the environment",
  },
  lock_missing: { status: 409, exit: 5, retry: false, message: "immutable layers are not locked" },
  lock_mismatch: { status: 409, exit: 5, retry: false, message: "an immutable layer differs from the lock" },
  agent_not_found: { status: 404, exit: 3, retry: false, message: "no agent of that name is declared" },
  tool_not_found: { status: 404, exit: 3, retry: false, message: "no tool of that name exists" },
  thread_not_found: { status: 404, exit: 3, retry: false, message: "no thread of that id is in reach" },
  call_not_found: { status: 404, exit: 3, retry: false, message: "no turn has left a call of that id open in reach" },
  call_answered: { status: 409, exit: 7, retry: false, message: "that call has another answer already" },
  turn_not_found: { status: 404, exit: 3, retry: false, message: "no turn of that id is in reach" },
  text_not_found: { status: 404, exit: 3, retry: false, message: "no layer, skill or version of that name is there" },
  text_refused: { status: 422, exit: 2, retry: false, message: "a text may not become part of the prompt" },
  text_decided: {
    status: 409,
    exit: 7,
    retry: false,
    message: "that proposal is already decided, or another text is now active",
  },
  signature_invalid: { status: 401, exit: 6, retry: false, message: "a signature is not that of the sender" },
  memory_not_found: { status: 404, exit: 3, retry: false, message: "no memory of that id is in reach" },
  unauthenticated: { status: 401, exit: 6, retry: false, message: "no key was sent that is valid" },
  not_allowed: { status: 403, exit: 6, retry: false, message: "this actor may not do that" },
  thread_busy: { status: 409, exit: 7, retry: true, message: "another worker holds the thread" },
  inbox_full: { status: 429, exit: 7, retry: true, message: "too many messages of one contact wait" },
  queue_full: { status: 503, exit: 7, retry: true, message: "too many turns wait for their place in this program" },
  lease_lost: {
    status: 409,
    exit: 7,
    retry: true,
    message: "the turn lost its thread while it ran: another worker took it over, or a sender was erased",
  },
  store_busy: { status: 503, exit: 7, retry: true, message: "the database is locked by another program" },
  store_failed: { status: 500, exit: 8, retry: false, message: "the database refused to read or write" },
  store_newer: { status: 409, exit: 8, retry: false, message: "the data was written by a newer Strata" },
  store_moved: {
    status: 409,
    exit: 8,
    retry: false,
    message: "the record was copied to another database and goes on there",
  },
  record_broken: { status: 500, exit: 9, retry: false, message: "the record does not match its digests" },
  budget_too_small: { status: 422, exit: 10, retry: false, message: "what must be sent does not fit into the budget" },
  source_failed: { status: 502, exit: 11, retry: true, message: "a required layer's source failed" },
  output_invalid: {
    status: 502,
    exit: 12,
    retry: true,
    message: "the model's answer does not match the agent's `output`",
  },
  spend_limit: { status: 402, exit: 15, retry: true, message: "the agent has reached its spending limit" },
  lint_failed: { status: 422, exit: 16, retry: false, message: "lint found what breaks the provider's cache" },
  model_unknown: { status: 400, exit: 12, retry: false, message: "no model is known by that name" },
  model_failed: { status: 502, exit: 12, retry: true, message: "the model did not answer" },
  rate_limited: { status: 429, exit: 12, retry: true, message: "the model's provider received too many requests" },
  key_refused: { status: 502, exit: 12, retry: false, message: "the model's provider refused the key" },
  reasoning_refused: {
    status: 502,
    exit: 12,
    retry: false,
    message: "the model's provider refused its own earlier reasoning as it was sent back",
  },
  model_refused: { status: 502, exit: 12, retry: false, message: "the model's provider refused the request" },
  turn_timeout: { status: 504, exit: 13, retry: true, message: "the turn ran out of time" },
  turn_cancelled: { status: 499, exit: 130, retry: true, message: "the turn was cancelled" },
  server_stopping: { status: 503, exit: 7, retry: true, message: "the server is being stopped" },
  port_taken: { status: 500, exit: 14, retry: true, message: "the address to listen on is in use" },
  unexpected: { status: 500, exit: 1, retry: false, message: "an unexpected error occurred" },
} as const satisfies Record<string, ErrorTraits>;

/** Properties of one kind of error that the CLI and the HTTP server need. */
export interface ErrorTraits {
  /** Nothing is wrong, and messages keep waiting until it passes: background work does not report it. */
  readonly isPause?: true;
  readonly status: number;
  readonly exit: number;
  readonly retry: boolean;
  readonly message: string;
}

export type CoreErrorCode = keyof typeof ERRORS;
/** The code of a feature's error. */
export type OwnErrorCode = Brand<string, "ErrorCode">;
export type ErrorCode = CoreErrorCode | OwnErrorCode;

/** Whether a code is in the list above. */
export const isCoreError = (code: ErrorCode): code is CoreErrorCode => Object.hasOwn(ERRORS, code);

/** A code with its traits, as each error carries them. */
export interface ErrorKind extends ErrorTraits {
  readonly code: ErrorCode;
}

/** A feature's kind of error: the feature throws and recognises it, and names it in `errors` of its `FEATURE`. */
export interface OwnError extends ErrorKind {
  readonly code: OwnErrorCode;
  readonly of: (message: string, details?: Readonly<Record<string, unknown>>, cause?: unknown) => StrataError;
  readonly is: (thrown: unknown) => boolean;
}

export function errorKind(name: string, traits: ErrorTraits): OwnError {
  const code = name as OwnErrorCode;
  const kind = { ...traits, code };
  return {
    ...kind,
    of: (message, details, cause) => new StrataError(kind, message, details, cause),
    is: (thrown) => thrown instanceof StrataError && thrown.code === code,
  };
}

/** The one error class. `message` is a sentence with the value and the next step; `details` is the same for programs. */
export class StrataError extends Error {
  override readonly name = "StrataError";
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  readonly #kind: ErrorKind;

  /** @param kind a code of the core, or the `traits` of another error, whose kind the new one has */
  constructor(
    kind: CoreErrorCode | ErrorKind,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.#kind = typeof kind === "string" ? { code: kind, ...ERRORS[kind] } : kind;
    this.code = this.#kind.code;
    this.details = details;
  }

  get traits(): ErrorKind {
    return this.#kind;
  }
}

/** Any thrown value as a `StrataError`: one that already is stays unchanged, others get `code` and keep their cause. */
export function asStrataError(thrown: unknown, code: CoreErrorCode = "unexpected"): StrataError {
  if (thrown instanceof StrataError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new StrataError(code, message || ERRORS[code].message, {}, thrown);
}

/** For the `default` of a switch over a union: a new member then breaks the build here. */
export function never(value: never): never {
  throw new StrataError(
    "unexpected",
    `no case for ${JSON.stringify(value)}: this is a bug in Strata, please report it`,
  );
}
