/**
 * The cost limit for checking the events of one request. Validation runs on the only thread, so a request whose schema
 * and events need more than this would block all others; it is refused instead. The limit counts work, not time: the
 * same request gets the same response, however busy the machine is.
 */

/**
 * The work that every request may cause in validation. Steps, of some nanoseconds at most: some hundredths of a second
 * in all.
 */
export const validationStepsPerRequest = 50_000_000;

/**
 * The additional work that a request may cause for each byte of its body. Steps. Reading and writing a body takes time
 * for each byte too; checking it may take about as much. Events of a usual schema need a tenth of this.
 */
export const validationStepsPerByte = 25;

/** The work that one event may cause, since it is checked without a pause. Steps. */
export const validationStepsPerEvent = 50_000_000;

/** The rest of the work that one request may cause. */
export class ValidationBudget {
  /** The initial budget, for error messages. Steps. */
  readonly stepsMaximum: number;
  /** What is left. Steps. */
  steps: number;
  /** The part of it that one event may use. Steps. */
  readonly stepsPerEvent: number;

  /** @param bytes The size of the body that the events came in; Infinity for work without a budget. */
  constructor(bytes: number) {
    this.stepsMaximum = validationStepsPerRequest + bytes * validationStepsPerByte;
    this.stepsPerEvent = Number.isFinite(bytes) ? validationStepsPerEvent : Infinity;
    this.steps = this.stepsMaximum;
  }
}

/** Thrown out of the middle of a validation when the budget of its request is used up. */
export class ValidationBudgetUsedUp extends Error {
  constructor() {
    super('the budget for validation is used up');
    this.name = 'ValidationBudgetUsedUp';
  }
}
