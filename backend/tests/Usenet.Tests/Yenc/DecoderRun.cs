using System.Text;
using Sluice.Testing;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>The result of decoding one article with a new decoder.</summary>
internal sealed class DecoderRun
{
    public required DecodedArticle Result { get; init; }

    public required byte[] Output { get; init; }

    public required bool Ended { get; init; }

    /// <summary>Bytes consumed from all pieces.</summary>
    public required int Consumed { get; init; }

    public ArticleDefects Defects => Result.Defects;

    public string Name => Result.Header.Name;

    public static DecoderRun Of(string wire) => Of([TestArticle.Bytes(wire)]);

    public static DecoderRun Of(IReadOnlyList<ReadOnlyMemory<byte>> pieces, YencKernel? kernel = null, int blockSize = 64 * 1024)
    {
        var decoder = new ArticleDecoder(kernel);
        var output = new ReusedBuffer(pieces.Sum(piece => piece.Length) + 1, blockSize);
        var headerWasReady = true;
        output.OnRequest = () => headerWasReady &= decoder.HasHeader;

        var consumed = 0;
        var ended = false;
        foreach (var piece in pieces)
        {
            ended = decoder.Decode(piece.Span, output, out var used);
            consumed += used;
            if (ended)
                break;
            if (used != piece.Length)
                throw new InvalidOperationException("The decoder left bytes of an article that goes on.");
        }

        if (!headerWasReady)
            throw new InvalidOperationException("Room for data was asked for before the header was there.");
        if (output.LargestHint > 1)
            throw new InvalidOperationException("More room was demanded than for one byte.");
        return new DecoderRun
        {
            Result = decoder.GetResult(),
            Output = output.Written.ToArray(),
            Ended = ended,
            Consumed = consumed,
        };
    }

    /// <summary>Decodes an intact article in pieces, repeatedly.</summary>
    /// <returns>Bytes allocated by twenty repetitions.</returns>
    public static long Allocated(ArticleDecoder decoder, byte[] wire)
    {
        const int Piece = 16 * 1024;
        var output = new ReusedBuffer(wire.Length);
        Once();
        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var i = 0; i < 20; i++)
            Once();
        var allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        Assert.Equal(ArticleDefects.None, decoder.GetResult().Defects);
        return allocated;

        void Once()
        {
            decoder.Reset();
            output.Clear();
            for (var at = 0; at < wire.Length; at += Piece)
                decoder.Decode(wire.AsSpan(at, Math.Min(Piece, wire.Length - at)), output, out _);
            decoder.GetResult();
        }
    }

    /// <summary>Describes every result that must not depend on splits of the input.</summary>
    public string Describe()
    {
        // The record would print its lent name as memory instead of text.
        var header = Result.Header with { NameBytes = default };
        return new StringBuilder()
            .Append(Convert.ToHexString(Output)).Append(' ').Append(Ended).Append(' ').Append(Consumed).Append(' ')
            .Append(Name).Append(' ').Append(Result with { Header = header }).ToString();
    }
}
