namespace Sluice.Usenet.Nntp;

/// <summary>How one provider is used at the moment.</summary>
/// <param name="Sockets">Connections, those that are being opened or closed included.</param>
/// <param name="PipeliningDepth">Bodies that a connection is asked for at a time.</param>
/// <param name="PinnedBecause">Why the depth is 1 whatever the line would bear, in a sentence for an operator; null while it is not.</param>
/// <remarks>A snapshot.</remarks>
public sealed record ProviderStatus(int Sockets, int PipeliningDepth, string? PinnedBecause);
