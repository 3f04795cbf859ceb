/** Words that are right as they stand, though one letter away from one that talk about rules is made of. */
export const SPELT: ReadonlySet<string> = new Set(
  `
  adapt alerting amount amounts angel angle annulled applied approvers arrived arrives assumes authors batched batches
  batching bearing betas boarding booking branches breaker buyers cancelling caption carrier catches catching chained
  chaining chapter charged charger chargers charges charm checker classes cleaned closing complied conform container
  continued contracts contradiction contrast controlled copied created creates creating decided decodes definer
  defines delegates denied denoted deserve detects developed discord distribution dropping effects election emission
  enables ending excepted exceptions exemption exemptions exits expected expiring exported exporter exporting exports
  express extensive flow flower flows forged form from funding grained greeting guardian hanging harmonic harmony
  heading hearing heating however identify ignored ignores import imports inbound inserted inserting inserts instruct
  intend interpreter interval invented inverse invoicing isolate isolated lager laser later lawyer lawyers layered
  leaders leading lesson lessons limiter linting listing locking logging losing manipulation mapping matched matches
  matching meaning missing modified modifying mounts nullish objection obliges observers onchain operates optionally
  ordered overruns packing painted parsing payer pending persons phrases pinning player players precedent precedents
  predefined preference preferences prepend prepended prepends presents preset preview previews previously priorities
  prioritize profile profiles propose quiet quite raised raises raising reached reaches reaching readers receiving
  reception referenced refueling related renders replaced replacer replaces replayed replaying reserve resume resumed
  retains retried retries retrying reused reusing reverted roles routing ruled ruler rulers ruleset rulings safely
  satisfies saying settled shaking skipped skipping spelling staging stating swapped there though threads three
  touched trading trail trailing translations tray trial tweaked unchanged unclear unvalidated uploaded uploading
  uploads validating waiting waking walking wallpaper warn warning warnings watcher weather weekend wherever whomever
  withheld wonder working
  `
    .trim()
    .split(/\s+/),
);
