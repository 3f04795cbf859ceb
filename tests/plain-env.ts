/**
 * What a program that a test starts is given of the environment of the tests: where programs are, and where Node keeps the
 * code it has compiled for the next start. No key, and nothing that is only on the machine of whoever runs the tests.
 */
export function plainEnv(): Readonly<Record<"PATH" | "NODE_COMPILE_CACHE", string>> {
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}
