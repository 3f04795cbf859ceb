declare const brand: unique symbol;

/** An interface, because the types of a package must be able to name it whenever they spell a brand out. */
export interface Branded<Name extends string> {
  readonly [brand]: Name;
}

/** A `T` that only its own function can create: the brand exists only in the types and costs nothing at run time. */
export type Brand<T, Name extends string> = T & Branded<Name>;
