/** Loan and product ids: texts that need no escaping in a URL path or a record key. */
const idForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Whether a text may be the id of a loan account or a product. */
export function isAccountOrProductId(text: unknown): text is string {
  return typeof text === 'string' && idForm.test(text);
}

/**
 * Whether a text looks like an encodedKey: 32 hexadecimal digits, of either case. Every key has this form and no id may
 * have it, so that no id can be mistaken for another resource's key, in any partition.
 */
export function hasEncodedKeyForm(text: string): boolean {
  return encodedKeyForm.test(text.toLowerCase());
}

/** Every encodedKey that this service makes. */
export const encodedKeyForm = /^[0-9a-f]{32}$/;
