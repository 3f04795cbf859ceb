import { z } from "zod";

export const SLUG = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;
const SLUG_FORM = "1 to 64 of a-z, 0-9, `.`, `_` and `-`, starting and ending with a letter or digit";

export const REFERENCE = "$" + "{NAME}";
/** The form of `${NAME}` in the places that allow it. */
export const SECRET_FORM = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

export const slug = (): z.ZodString => z.string().regex(SLUG, `a name of ${SLUG_FORM}`);
export const tokens = (least: number): z.ZodInt => z.int().min(least).max(10_000_000);
export const model = (): z.ZodString =>
  z
    .string()
    .regex(
      /^(?:rehearsal|[a-z0-9-]+:[^\s:]\S{0,199})$/,
      "`provider:name`, as in `anthropic:claude-sonnet-5-5`, or `rehearsal`",
    );
export const embedder = (): z.ZodString =>
  z
    .string()
    .regex(
      /^(?:none|rehearsal|[a-z0-9-]+:[^\s:]\S{0,199})$/,
      "`provider:name`, as in `openai:text-embedding-3-small`, `rehearsal` or `none`",
    );
export const line = (most: number): z.ZodString =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .regex(/^[^\r\n]*$/, "one line without a line break");

/** A server's address, or the variable of the environment that holds it: it may hold a key, too. */
export type ServerAddress = { readonly url: string } | { readonly variable: string };

export const server = () =>
  z
    .string()
    .regex(
      /^(?:https?:\/\/\S+|\$\{[A-Za-z_][A-Za-z0-9_]*\})$/,
      `an address that begins with https:// or http://, or \`${REFERENCE}\``,
    )
    .transform((written): ServerAddress => {
      const variable = SECRET_FORM.exec(written)?.[1];
      return variable === undefined ? { url: written } : { variable };
    })
    .pipe(z.union([z.strictObject({ url: z.string() }), z.strictObject({ variable: z.string() })]));
