namespace Sluice.Usenet.Streams.Maps;

/// <summary>
/// The file for which articles are fetched, as the user sees it. Damage counts against the whole file, however often it is opened and however many posted files
/// it has. Immutable. Instances with equal identities are equal; string identities stay equal across restarts.
/// </summary>
public sealed class FileOrigin(object identity, long length) : IEquatable<FileOrigin>
{
    public long Length => length;

    /// <summary>The name of the file across restarts; null if its identity ends with the process.</summary>
    public string? LastingName => identity as string;

    internal object Identity => identity;

    public bool Equals(FileOrigin? other) => other is not null && identity.Equals(other.Identity);

    public override bool Equals(object? obj) => Equals(obj as FileOrigin);

    public override int GetHashCode() => identity.GetHashCode();
}
