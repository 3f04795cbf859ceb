export * from "../../../print/index.ts";
