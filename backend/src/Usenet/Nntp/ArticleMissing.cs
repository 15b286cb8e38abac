namespace Sluice.Usenet.Nntp;

/// <summary>
/// The definitive answer that no provider has an article: each one that was asked said 430, 423 or 451. A time-out or a
/// broken connection never counts here.
/// </summary>
/// <param name="Providers">How many providers gave that answer; 0 when every provider was excluded by the request.</param>
/// <param name="LastCode">The last of their codes (RFC 3977 section 6.2.3), or 0.</param>
public sealed record ArticleMissing(int Providers, int LastCode);
