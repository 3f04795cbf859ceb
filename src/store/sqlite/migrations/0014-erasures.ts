import type { Migration } from "../../migrations.ts";

/** What an erasure still has to do after its rows are blanked, and the signatures of erased contacts, which must not count again. */
export const erasures: Migration = {
  number: 14,
  name: "erasures",
  statements: [
    // The contact stays until its files are deleted, the row until no old page of it is left in the write-ahead log.
    `create table erasure (
      number integer primary key, org text not null, agent text not null, contact text, at integer not null) strict`,
    // Under the agent's key: neither the contact nor the id can be read from it.
    `create table spent_signature (
      org text not null, agent text not null, digest text not null, primary key (org, agent, digest)) strict`,
  ],
};
