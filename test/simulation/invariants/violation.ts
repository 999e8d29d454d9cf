/** A broken invariant. */
export class Violation extends Error {}
