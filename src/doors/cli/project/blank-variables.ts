/**
 * Imported for its effect, and first: providers' packages read the environment while they are loaded and refuse an address
 * that is set to nothing. Here, as everywhere in Strata, what is set to nothing is not set.
 */
for (const name of ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"]) if (process.env[name] === "") delete process.env[name];
