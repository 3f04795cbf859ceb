/** What compares vectors here, for the doctor. */
export { vectorExtension } from "../../store/index.ts";
