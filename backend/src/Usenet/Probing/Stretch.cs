using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Probing;

/// <summary>Segments whose lengths are open, from First to before Limit, in the bytes from Begin to before End.</summary>
internal readonly record struct Stretch(int First, int Limit, long Begin, long End)
{
    /// <summary>Number of segments.</summary>
    public int Count => Limit - First;

    /// <summary>Whether so many segments can have so many bytes.</summary>
    public bool IsPossible => Bytes >= 0 && Bytes <= (long)Count * SegmentMap.MaxSegmentLength && (Count > 0 || Bytes == 0);

    private long Bytes => End - Begin;

    /// <summary>Settles the lengths where they are those of the first segment, as nearly always.</summary>
    public bool TryFill(long[] lengths, long partSize)
    {
        if (Bytes != Count * partSize)
            return false;
        Array.Fill(lengths, partSize, First, Count);
        return true;
    }

    /// <summary>Settles the lengths where a map that was believed so far has the stretch at its place.</summary>
    public bool TryFill(long[] lengths, SegmentMap known)
    {
        if (Count > 0 && (known[First].Begin != Begin || known[Limit - 1].End != End))
            return false;
        for (var i = First; i < Limit; i++)
            lengths[i] = known[i].Length;
        return true;
    }

    /// <summary>Settles the lengths by a guess, where nobody has the articles and so the bytes.</summary>
    public void FillEvenly(long[] lengths)
    {
        for (var i = 0; i < Count; i++)
            lengths[First + i] = Bytes / Count + (i < Bytes % Count ? 1 : 0);
    }

    /// <summary>Whether an article fits in as the segment of an index, and leaves room for the others on both sides.</summary>
    public bool Holds(ArticleHead head, int index) =>
        head.Begin >= Begin && head.End <= End && new Stretch(First, index, Begin, head.Begin.Value).IsPossible
        && new Stretch(index + 1, Limit, head.End.Value, End).IsPossible;
}
