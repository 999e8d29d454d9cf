/** Returns the sequence number after a batch. The numbers continue from zero after the largest of 31 bits. */
export function sequenceAfter(firstSequence: number, count: number): number {
  return (firstSequence + count) & 0x7fff_ffff;
}
