/** A request of one kind and version, and how to read its answer. */
export interface KafkaRequest<Answer> {
  readonly name: string;
  readonly apiKey: number;
  readonly apiVersion: number;
  /**
   * The body, without the header: whole, or in pieces that follow one another and must not change before the answer.
   */
  encode(): Buffer | readonly Buffer[];
  /** @param answer The body, without the header. It is memory of its own and may be kept. */
  decode(answer: Buffer): Answer;
  /** How long the broker itself may take before it answers, on top of the usual. Milliseconds. */
  readonly brokerMilliseconds?: number;
  /** Whether the answer ends with the throttle time, with which others begin. */
  readonly isThrottleLast?: boolean;
  /** Whether this version is a flexible one, whose headers have tagged fields. */
  readonly isFlexible?: boolean;
}
