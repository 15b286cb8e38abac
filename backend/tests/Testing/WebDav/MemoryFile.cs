using System.Security.Cryptography;
using Sluice.Server.WebDav;

namespace Sluice.Testing.WebDav;

/// <summary>A file in memory that counts how often it is opened and fails on request.</summary>
internal sealed class MemoryFile(string name, byte[] content) : IStoreFile
{
    /// <summary>The default date of files and folders.</summary>
    public static readonly DateTimeOffset SomeDay = new(2026, 1, 3, 10, 0, 0, 500, TimeSpan.Zero);

    private int _opened;

    /// <inheritdoc/>
    public string Name => name;

    /// <inheritdoc/>
    public DateTimeOffset Created { get; init; } = SomeDay;

    /// <inheritdoc/>
    public DateTimeOffset LastModified { get; init; } = SomeDay;

    /// <inheritdoc/>
    public bool IsReadOnly { get; init; } = true;

    /// <inheritdoc/>
    public IPropertyManager Properties => LiveProperties.OfFiles;

    /// <inheritdoc/>
    public long Length { get; init; } = content.Length;

    /// <inheritdoc/>
    public EntityTag ETag { get; init; } = new(Convert.ToHexStringLower(SHA256.HashData(content).AsSpan(0, 16)));

    /// <inheritdoc/>
    public string ContentType => ContentTypes.ForName(name);

    /// <inheritdoc/>
    public string CacheControl { get; init; } = "private, no-transform";

    /// <summary>Replaces <see cref="OpenAsync"/>; called with offset and length.</summary>
    public Func<long, long, CancellationToken, ValueTask<Stream>>? Opening { get; init; }

    /// <summary>Explains failures; null if none is explained.</summary>
    public Func<Exception, ContentUnavailableException?>? Explaining { get; init; }

    /// <summary>How often the file was opened.</summary>
    public int Opened => Volatile.Read(ref _opened);

    /// <inheritdoc/>
    public ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _opened);
        return Opening is null
            ? ValueTask.FromResult<Stream>(new MemoryStream(content, (int)offset, (int)length, writable: false))
            : Opening(offset, length, cancellationToken);
    }

    /// <inheritdoc/>
    public ContentUnavailableException? Explain(Exception failure) => Explaining?.Invoke(failure);
}
