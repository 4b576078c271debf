/**
 * The role of a field says what it holds of an ID.
 *
 * Several `worker` fields (a data centre and a machine, say) make one worker number, the first one highest.
 */
export type FieldRole = 'time' | 'worker' | 'clockBack' | 'sequence' | 'fixed';

/** A run of bits of an ID. */
export interface Field {
  readonly name: string;
  readonly role: FieldRole;
  /** Its width, 1 or more. */
  readonly bits: number;
  /** What a `fixed` field always holds. */
  readonly value?: number;
}

/** A field with its place: `id = sum of value << shift`. */
export interface PlacedField extends Field {
  readonly shift: number;
}

/** Gives every field its shift; the list runs from the most significant bits down. */
export function placeFields(fields: readonly Field[]): readonly PlacedField[] {
  let shift = fields.reduce((sum, field) => sum + field.bits, 0);
  return fields.map((field) => ({ ...field, shift: (shift -= field.bits) }));
}
