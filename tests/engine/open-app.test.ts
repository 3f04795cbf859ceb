import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type AppOptions, openApp } from "../../src/app.ts";

const WHOLE = { folder: tmpdir(), data: join(tmpdir(), "never-made"), env: {} };

it.each(["folder", "data", "env"] as const)(
  "says which option a program without types has left out: %s",
  async (name) => {
    const { [name]: _, ...rest } = WHOLE;
    const given: object = rest;
    await expect(openApp(given as AppOptions)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(`\`${name}\``),
    });
  },
);
