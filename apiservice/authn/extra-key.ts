/**
 * A key of a user's extra, from the end of a header's name. Those are case-insensitive, so keys are lower case;
 * percent-encoding carries what a header's name cannot, upper case too.
 */
export function extraKeyOf(encoded: string): string {
  const lower = encoded.toLowerCase()
  try {
    return decodeURIComponent(lower)
  } catch (thrown) {
    // Taken as it is, as Go does.
    if (thrown instanceof URIError) return lower
    throw thrown
  }
}
