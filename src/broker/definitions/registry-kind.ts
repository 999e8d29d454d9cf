/** What the registry has definitions of. */
export type RegistryKind =
  | 'event-type'
  | 'subscription'
  | 'blacklist-entry'
  | 'feature'
  | 'dealt-with-letter'
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
