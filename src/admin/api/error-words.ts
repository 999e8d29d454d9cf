/** `EXCESS_REPAYMENT_ERROR` in words for people. */
export function sentence(constant: string): string {
  const words = constant.replaceAll('_', ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
