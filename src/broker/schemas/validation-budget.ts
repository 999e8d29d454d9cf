/**
 * What checking the events of one request may cost. Validation runs on the only thread, so that a request whose schema
 * and events need more than this would hold up everybody else; it is refused instead. Work is counted, not time: the
 * same request has the same answer, however busy the machine is.
 */

/**
 * The work that every request may ask of validation. Steps, of some nanoseconds at most: some hundredths of a second in
 * all.
 */
export const validationStepsPerRequest = 50_000_000;

/**
 * The work that it may ask for besides for each byte of its body. Steps. Reading and writing a body takes time for each
 * byte too; checking it may take about as much. Events of a usual schema need a tenth of it.
 */
export const validationStepsPerByte = 25;

/** The work that one event may ask for, for it is checked at one go. Steps. */
export const validationStepsPerEvent = 50_000_000;

/** What is left of the work that one request may ask for. */
export class ValidationBudget {
  /** What it was in the beginning, for who has to be told. */
  readonly stepsMaximum: number;
  steps: number;
  /** What one event may take of it. */
  readonly stepsPerEvent: number;

  /** @param bytes Of the body that the events came in; Infinity for what is on no budget. */
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
