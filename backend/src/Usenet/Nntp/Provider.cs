namespace Sluice.Usenet.Nntp;

/// <summary>One Usenet account in use: its settings and its connections.</summary>
/// <param name="Index">Place in the pool of providers.</param>
/// <param name="Options">The account.</param>
/// <param name="Pool">Its connections.</param>
internal sealed record Provider(int Index, ProviderOptions Options, NntpConnectionPool Pool)
{
    /// <summary>What it takes to begin a body.</summary>
    public FirstByteTimes FirstBytes { get; } = new();
}
