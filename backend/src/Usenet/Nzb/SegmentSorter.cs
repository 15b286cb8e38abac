using System.Buffers.Binary;
using System.Collections;
using System.Security.Cryptography;

namespace Sluice.Usenet.Nzb;

/// <summary>
/// Puts the segments of a file in the order of their numbers. Of those with one number the first is asked for, and up to three others
/// after a miss; those without a number follow the highest one as the NZB lists them (IMP-15). Memory takes 8 bytes for each segment.
/// </summary>
internal static class SegmentSorter
{
    // A key is a number and the place of its segment in the spool, which is the order of the document.
    private const int PlaceBits = 40;

    // Ids that are compared at once: some 8 MB.
    private const int IdsAtOnce = 200_000;

    /// <summary>Sorts the listed segments.</summary>
    /// <param name="listed">Complete.</param>
    /// <param name="sorted">Takes the segments, one of each number, and is complete then.</param>
    /// <exception cref="IOException">A scratch file failed.</exception>
    public static void Sort(SegmentSpool listed, SegmentSpool sorted)
    {
        var keys = MakeKeys(listed, out var count);
        Array.Sort(keys, 0, count);

        sorted.Clear();
        Span<byte> ids = stackalloc byte[PackedIds.MaxLength];
        for (var i = 0; i < count;)
        {
            var number = NumberOf(keys[i]);
            var first = listed.Read(PlaceOf(keys[i]));
            var (bytes, length) = (first.Bytes, first.PackedIds.Length);
            first.PackedIds.CopyTo(ids);
            for (i++; i < count && NumberOf(keys[i]) == number; i++)
                PackedIds.Merge(ids, ref length, listed.Read(PlaceOf(keys[i])).PackedIds);
            sorted.Add(number, bytes, ids[..length]);
        }

        sorted.Complete();
    }

    private static ulong[] MakeKeys(SegmentSpool listed, out int count)
    {
        var (highest, numbered) = (0, 0);
        for (var place = 0L; place < listed.End;)
        {
            var segment = listed.Read(place);
            highest = Math.Max(highest, segment.Number);
            numbered += segment.Number > 0 ? 1 : 0;
            place = segment.Next;
        }

        var repeated = numbered < listed.Count ? FindRepeated(listed, numbered > 0) : null;
        var keys = new ulong[listed.Count];
        (count, var index) = (0, 0);
        for (var place = 0L; place < listed.End; index++)
        {
            var segment = listed.Read(place);
            if (segment.Number > 0 || !repeated![index])
                keys[count++] = ((ulong)(segment.Number > 0 ? segment.Number : ++highest) << PlaceBits) | (ulong)place;
            place = segment.Next;
        }

        return keys;
    }

    /// <summary>Which segments without a number repeat an article that has one, or one before them. By their index in the spool.</summary>
    private static BitArray FindRepeated(SegmentSpool listed, bool anyNumbered)
    {
        // Of very many ids one share after the other is compared. A seeded hash decides the share, so an NZB cannot be made to fill one.
        var shares = 1 + (listed.Count / IdsAtOnce);
        var repeated = new BitArray(listed.Count);
        var known = new HashSet<UInt128>(Math.Min(listed.Count, IdsAtOnce));
        for (var share = 0; share < shares; share++)
        {
            known.Clear();
            if (anyNumbered)
                Compare(share, numbered: true);
            Compare(share, numbered: false);
        }

        return repeated;

        void Compare(int share, bool numbered)
        {
            var index = 0;
            for (var place = 0L; place < listed.End; index++)
            {
                var segment = listed.Read(place);
                place = segment.Next;
                if (segment.Number > 0 == numbered && ShareOf(segment.PackedIds) == share
                    && !known.Add(Fingerprint(segment.PackedIds)) && !numbered)
                    repeated[index] = true;
            }
        }

        int ShareOf(ReadOnlySpan<byte> ids)
        {
            if (shares == 1)
                return 0;
            var hash = default(HashCode);
            hash.AddBytes(ids);
            return (int)((uint)hash.ToHashCode() % shares);
        }
    }

    private static UInt128 Fingerprint(ReadOnlySpan<byte> ids)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(ids, hash);
        return BinaryPrimitives.ReadUInt128LittleEndian(hash);
    }

    private static int NumberOf(ulong key) => (int)(key >> PlaceBits);

    private static long PlaceOf(ulong key) => (long)(key & ((1UL << PlaceBits) - 1));
}
