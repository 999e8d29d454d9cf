/**
 * The protocol of Kafka, in the versions that this product sends. No I/O.
 * In: what to ask a broker for, and the bytes of its response. Out: the bytes of the request, and what the broker says.
 * Start with `KafkaRequest` below; each file that has the name of a request makes it. `wire.ts` writes and reads the
 * primitive types, `record-batches/` the records, and `response-frames.ts` finds responses in what arrives.
 */

/** A request of one kind and version, and how to read its response. */
export interface KafkaRequest<Response> {
  readonly name: string;
  readonly apiKey: number;
  readonly apiVersion: number;
  /**
   * The body, without the header: whole, or in pieces that follow one another and must not change before the response.
   */
  encode(): Buffer | readonly Buffer[];
  /** @param response The body, without the header. It has its own memory and may be kept. */
  decode(response: Buffer): Response;
  /** How long the broker itself may take before it responds, on top of the usual time. Milliseconds. */
  readonly brokerMilliseconds?: number;
  /** Whether the response ends with the throttle time, instead of beginning with it. */
  readonly isThrottleLast?: boolean;
  /** Whether this version is a flexible one: its headers have tagged fields. */
  readonly isFlexible?: boolean;
}
