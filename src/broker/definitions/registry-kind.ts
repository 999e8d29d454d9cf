/** What the registry has definitions of. */
export type RegistryKind =
  | 'event-type'
  | 'subscription'
  | 'toggle'
  | 'product'
  | 'organization'
  | 'branch'
  | 'centre'
  | 'transaction-channel'
  | 'custom-field-set'
  | 'custom-field'
  | 'closed-day'
  | 'followed-calendar';
