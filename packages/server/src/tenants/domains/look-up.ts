import type { DnsResolver } from '../../kernel/ports.ts';

/** Result of a lookup; `unknown` means that no name server gave a usable answer. */
export type RecordState = 'present' | 'absent' | 'unknown';

/** Whether the record of a domain is published. Never rejects. */
export async function lookUp(
  dns: DnsResolver,
  { record }: { readonly record: { readonly name: string; readonly value: string } },
): Promise<RecordState> {
  try {
    const texts = await dns.texts(record.name);
    return texts.some((text) => text.trim() === record.value) ? 'present' : 'absent';
  } catch {
    return 'unknown';
  }
}
