using System.Buffers;

namespace Sluice.Usenet.Yenc;

/// <summary>Which end a decoder of blocks has reached.</summary>
internal enum BlockEnd
{
    /// <summary>Neither: the block goes on.</summary>
    None,

    /// <summary>The block; the article goes on.</summary>
    Block,

    /// <summary>The article, by its terminating line.</summary>
    Article,
}

/// <summary>
/// Decodes the blocks of one encoding: knows the line that one begins with, and reads it from there to its end. Of an article only
/// the first block counts.
/// </summary>
/// <param name="encoding">The encoding.</param>
/// <param name="lines">Reads the lines of the article; shared with <see cref="ArticleDecoder"/> and the other encodings.</param>
/// <param name="nameBuffer">Keeps the name of the file, as long as a line; shared likewise, because only one block begins.</param>
internal abstract class BlockDecoder(ArticleEncoding encoding, ArticleLineReader lines, byte[] nameBuffer)
{
    /// <summary>True from the moment when the header is complete, which is before any data is written.</summary>
    public bool HasHeader { get; protected set; }

    /// <summary>What the article says about itself before its data; its name is lent until <see cref="Reset"/>.</summary>
    public ArticleHeader Header { get; protected set; }

    /// <summary>Decoded bytes written so far.</summary>
    public long Decoded { get; private set; }

    /// <summary>What the article says about itself after its data; null when that has not come.</summary>
    protected ArticleTrailer? Trailer { get; set; }

    /// <summary>Defects of the lines so far.</summary>
    protected ArticleDefects Defects { get; set; }

    /// <summary>Checksum of the bytes written so far.</summary>
    protected uint Checksum { get; private set; }

    /// <summary>Reads the lines of the article.</summary>
    protected ArticleLineReader Lines { get; } = lines;

    /// <summary>Makes ready for the next article.</summary>
    public virtual void Reset()
    {
        HasHeader = false;
        Header = default;
        Decoded = 0;
        Trailer = null;
        Defects = ArticleDefects.None;
        Checksum = 0;
    }

    /// <summary>Takes a line of the preamble.</summary>
    /// <returns>True when it begins a block.</returns>
    public abstract bool TryBegin();

    /// <summary>Decodes the next bytes of the block, perhaps not all of them.</summary>
    /// <returns>How many bytes are done with.</returns>
    public abstract int Read(ReadOnlySpan<byte> raw, IBufferWriter<byte> output, out BlockEnd end);

    /// <summary>Takes a line behind the block.</summary>
    public abstract void TakeLineBehind();

    /// <summary>The facts about the article, its defects but for a terminating line that is missing.</summary>
    public virtual DecodedArticle Describe() => new()
    {
        Encoding = encoding,
        Header = Header,
        Trailer = Trailer,
        DecodedLength = Decoded,
        ComputedCrc = Checksum,
        Defects = Defects,
    };

    /// <summary>Keeps the name of the file, which stands in a line that is about to be read over.</summary>
    protected ReadOnlyMemory<byte> Keep(ReadOnlySpan<byte> name)
    {
        name.CopyTo(nameBuffer);
        return nameBuffer.AsMemory(0, name.Length);
    }

    /// <summary>Memory for the next decoded bytes.</summary>
    /// <param name="output">Lends it.</param>
    /// <param name="most">Most that is of use.</param>
    /// <returns>Empty when the article has reached the ceiling, which is a defect from then on.</returns>
    protected Span<byte> Room(IBufferWriter<byte> output, int most)
    {
        var room = (int)Math.Min(most, ArticleDecoder.MaxDecodedLength - Decoded);
        if (room == 0)
        {
            Defects |= ArticleDefects.TooLong;
            return [];
        }

        var memory = output.GetSpan(1);
        if (memory.IsEmpty)
            throw new InvalidOperationException("The buffer writer handed out no memory.");
        return memory.Length > room ? memory[..room] : memory;
    }

    /// <summary>Counts bytes that were decoded into <see cref="Room"/>.</summary>
    protected void Commit(ReadOnlySpan<byte> decoded, IBufferWriter<byte> output)
    {
        Checksum = Crc32Kernel.Append(Checksum, decoded);
        Decoded += decoded.Length;
        output.Advance(decoded.Length);
    }
}
