using System.Security.Cryptography;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Library;

/// <summary>The hash over the message-ids of a posted file, a part of every tag that the file has a share in.</summary>
internal sealed class IdsHash : IDisposable
{
    private static readonly Comparison<MessageId> ByBytes = (left, right) => left.Bytes.SequenceCompareTo(right.Bytes);

    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private readonly List<MessageId> _ids = [];

    /// <summary>Takes the ids of the next segment.</summary>
    public void Append(SegmentIds segment)
    {
        // Which of several copies comes first is chance, and says nothing about the content.
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

    /// <summary>The hash of all segments that were taken.</summary>
    public byte[] Finish() => _hash.GetHashAndReset();

    /// <inheritdoc/>
    public void Dispose() => _hash.Dispose();
}
