/** One step of the schema. Kept for ever and never edited: files in the world were made by it. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly statements: readonly string[];
}
