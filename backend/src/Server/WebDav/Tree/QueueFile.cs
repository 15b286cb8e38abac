using System.Buffers;
using Sluice.Server.Library;
using Sluice.Server.Queue;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A queue item as the NZB that was added, byte for byte.</summary>
internal sealed class QueueFile(QueueItem item, StoredNzbReader nzbs, QueueProperties properties) : IStoreFile
{
    /// <summary>Hex digits of the content id that make the validator: 128 bits.</summary>
    private const int TagLength = 32;

    private const int SkipBuffer = 64 * 1024;

    /// <inheritdoc />
    public string Name => item.FileName;

    /// <inheritdoc />
    public DateTimeOffset Created => item.AddedAt;

    /// <inheritdoc />
    public DateTimeOffset LastModified => item.AddedAt;

    /// <inheritdoc />
    public bool IsReadOnly => false;

    /// <inheritdoc />
    public IPropertyManager Properties { get; } = properties.Of(item);

    /// <inheritdoc />
    public long Length => item.NzbLength;

    /// <inheritdoc />
    public EntityTag ETag => new(item.NzbHash[..TagLength]);

    /// <inheritdoc />
    public string ContentType => ContentTypes.ForName(Name);

    /// <inheritdoc />
    public async ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken ct)
    {
        try
        {
            Stream plain = nzbs.Open(item.NzbHash);
            try
            {
                await SkipAsync(plain, offset, ct);
                return new ContentStream(plain, Translate);
            }
            catch
            {
                await plain.DisposeAsync();
                throw;
            }
        }
        catch (Exception failure) when (Translate(failure) is { } known)
        {
            throw known;
        }
    }

    private static ContentUnavailableException? Translate(Exception failure) =>
        failure is StoredNzbLostException or InvalidDataException
            ? new ContentUnavailableException(ContentFault.Gone, "The stored NZB is lost or damaged.", failure)
            : null;

    /// <summary>Reads up to an offset: what is stored is compressed and has no places.</summary>
    private static async Task SkipAsync(Stream plain, long offset, CancellationToken ct)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(SkipBuffer);
        try
        {
            while (offset > 0)
            {
                int read = await plain.ReadAsync(buffer.AsMemory(0, (int)Math.Min(offset, buffer.Length)), ct);
                if (read == 0)
                    throw new InvalidDataException("The stored NZB is shorter than its length.");
                offset -= read;
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }
}
