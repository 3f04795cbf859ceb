declare const brand: unique symbol;

/** A `T` that only its own maker can make: the mark lives in the types and costs nothing at run time. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
