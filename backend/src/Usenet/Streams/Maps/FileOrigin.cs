namespace Sluice.Usenet.Streams.Maps;

/// <summary>
/// The user-visible file for which articles are fetched. Damage counts against the whole file, no matter how often it is opened or how many posted files it
/// spans. Immutable. Two instances are equal if their identities are; string identities stay the same across restarts.
/// </summary>
public sealed class FileOrigin(object identity, long length) : IEquatable<FileOrigin>
{
    public long Length => length;

    /// <summary>The file's name, which survives restarts; null if the identity ends with the process.</summary>
    public string? LastingName => identity as string;

    internal object Identity => identity;

    public bool Equals(FileOrigin? other) => other is not null && identity.Equals(other.Identity);

    public override bool Equals(object? obj) => Equals(obj as FileOrigin);

    public override int GetHashCode() => identity.GetHashCode();
}
