/** What compares vectors here, for the doctor. */
export { vectorExtension } from "../../stores/index.ts";
