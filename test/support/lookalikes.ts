/** Messages of policies' authors that look like sentences of the server: reports have them whole. */
export const LOOKALIKES: readonly string[] = [
  "Policy web failed: call 555",
  "Policy web error: error: call 555",
  "ValidatingAdmissionPolicy 'web' denied request: call 555",
  "ValidatingAdmissionPolicy 'web' with binding 'b' denied request: Policy web failed: call 555",
  "policy 'web' with binding 'b' denied request: call 555",
  'policy "web" denied request: expression \'a == "b"\' resulted in error: no such key: b',
  "evaluated to false: rule is skipped due to policy exception: shop/e",
  "match condition 'a' is false",
  "failed expression: object.a: 'it''s'",
];
