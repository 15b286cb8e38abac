using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Library;

/// <summary>
/// Strong validators over the origin of a file: message-ids, entry identity and length (DAV-60). Offsets are no part of them, so a
/// corrected map keeps the validator, and it is the same after every restart, at every path and on every node.
/// </summary>
internal static class ContentTag
{
    // 128 bits of a SHA-256: short in a header, and still no two files of one tag.
    private const int TagBytes = 16;

    /// <summary>The <see cref="IdsHash"/> of a posted file.</summary>
    /// <param name="segments">The ids of its segments in order.</param>
    public static byte[] HashIds(IEnumerable<SegmentIds> segments)
    {
        using var hash = new IdsHash();
        foreach (var segment in segments)
            hash.Append(segment);
        return hash.Finish();
    }

    /// <summary>The tag of a file.</summary>
    /// <param name="postedFiles">Id hashes of the posted files that it is made of, in order.</param>
    /// <param name="entry">Path of the archive entry; empty for a file that was posted as it is.</param>
    /// <param name="length">Length in bytes.</param>
    public static string Of(IEnumerable<byte[]> postedFiles, string entry, long length)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        foreach (var ids in postedFiles)
            hash.AppendData(ids);

        hash.AppendData(Encoding.UTF8.GetBytes(entry));
        Span<byte> size = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(size, length);
        hash.AppendData(size);
        return Convert.ToHexStringLower(hash.GetHashAndReset().AsSpan(0, TagBytes));
    }
}

/// <summary>The hash over the message-ids of a posted file, from which the tags of all library files of it are made.</summary>
internal sealed class IdsHash : IDisposable
{
    private static readonly Comparison<MessageId> ByBytes = (left, right) => left.Bytes.SequenceCompareTo(right.Bytes);

    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private readonly List<MessageId> _ids = [];

    /// <summary>Appends the ids of the next segment.</summary>
    public void Append(SegmentIds segment)
    {
        // The order of the copies of a segment is arbitrary and no part of the content.
        _ids.Clear();
        if (!segment.Primary.IsEmpty)
            _ids.Add(segment.Primary);
        _ids.AddRange(segment.Fallbacks);
        _ids.Sort(ByBytes);
        foreach (var id in _ids)
        {
            _hash.AppendData(id.Bytes);
            _hash.AppendData(" "u8);
        }

        _hash.AppendData("\n"u8);
    }

    /// <summary>The hash over all segments appended.</summary>
    public byte[] Finish() => _hash.GetHashAndReset();

    /// <inheritdoc/>
    public void Dispose() => _hash.Dispose();
}
