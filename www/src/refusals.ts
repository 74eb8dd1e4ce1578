/**
 * Counts what the security policy refused. Where two policies are in force (the server's header and the page's
 * `<meta>`), one attempt is reported once for each, so the policy with the most reports gives the count.
 */
export class Refusals {
  #by_policy = new Map<string, number>();

  add(policy: string): void {
    this.#by_policy.set(policy, (this.#by_policy.get(policy) ?? 0) + 1);
  }

  get count(): number {
    return Math.max(0, ...this.#by_policy.values());
  }
}
