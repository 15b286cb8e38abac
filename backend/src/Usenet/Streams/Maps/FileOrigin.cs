namespace Sluice.Usenet.Streams.Maps;

/// <summary>
/// The file for which articles are fetched, as its user sees it: what its articles have done is held for or against all of it,
/// however often it is opened and of however many posted files it consists.
/// </summary>
/// <remarks>Immutable; equal for equal identities.</remarks>
/// <param name="identity">Equal for the same file as long as the process runs; a text is the same after a restart, too.</param>
/// <param name="length">Bytes of the file.</param>
public sealed class FileOrigin(object identity, long length) : IEquatable<FileOrigin>
{
    /// <summary>Bytes of the file.</summary>
    public long Length => length;

    /// <summary>What the file is known by over restarts; null where its identity ends with the process.</summary>
    public string? LastingName => identity as string;

    internal object Identity => identity;

    /// <inheritdoc/>
    public bool Equals(FileOrigin? other) => other is not null && identity.Equals(other.Identity);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as FileOrigin);

    /// <inheritdoc/>
    public override int GetHashCode() => identity.GetHashCode();
}
