using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Sluice.Usenet.Yenc;

/// <summary>The byte machine: the reference implementation, the fallback of the vector kernels, and the decoder for CPUs without vectors.</summary>
internal sealed class YencByteKernel : YencKernel
{
    public override string Name => "bytes";

    public override YencStop Decode(
        ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, out int consumed, out int written) =>
        Run(source, destination, ref state, out consumed, out written);

    // Not inlined, because the JIT would optimize this loop less in a caller and halve its speed.
    [MethodImpl(MethodImplOptions.AggressiveOptimization | MethodImplOptions.NoInlining)]
    internal static YencStop Run(
        ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, out int consumed, out int written)
    {
        var context = state.Context;
        var escape = state.Escape;
        var stop = YencStop.NeedInput;
        int i = 0, o = 0;
        for (; i < source.Length; i++)
        {
            if (context == YencContext.Inside && !escape)
            {
                var run = TakePlain(source[i..], destination[o..]);
                i += run;
                o += run;
                if (i == source.Length)
                    break;
            }

            var b = source[i];
            if (context > YencContext.Dot && EndsMatch(context, b, ref stop))
            {
                i++;
                context = stop == YencStop.ArticleEnd ? YencContext.LineStart : YencContext.Inside;
                escape = false;
                break;
            }

            if (!escape && IsDropped(b, ref context, ref escape, state.BareLineFeeds))
                continue;

            if (o == destination.Length)
            {
                stop = YencStop.DestinationFull;
                break;
            }

            // An escaped CR is data to yEnc but still the first half of a line end to NNTP.
            destination[o++] = (byte)(b - (escape ? 42 + 64 : 42));
            context = escape && b == '\r' ? YencContext.Cr : YencContext.Inside;
            escape = false;
        }

        state.Context = context;
        state.Escape = escape;
        consumed = i;
        written = o;
        return stop;
    }

    /// <summary>Decodes plain data within a line: the fast path for most bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    private static int TakePlain(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        ref var from = ref MemoryMarshal.GetReference(source);
        ref var to = ref MemoryMarshal.GetReference(destination);
        var i = 0;
        for (var end = Math.Min(source.Length, destination.Length); i < end; i++)
        {
            var b = Unsafe.Add(ref from, i);
            if (b is (byte)'=' or (byte)'\r' or (byte)'\n')
                break;
            Unsafe.Add(ref to, i) = (byte)(b - 42);
        }

        return i;
    }

    /// <summary>Whether the byte completes <c>=y</c> or the terminator.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool EndsMatch(YencContext context, byte b, ref YencStop stop)
    {
        if (context == YencContext.Equals && b == 'y')
            stop = YencStop.Keyword;
        else if (context == YencContext.DotCr && b == '\n')
            stop = YencStop.ArticleEnd;
        else
            return false;
        return true;
    }

    /// <summary>Processes an unescaped byte that produces no output; false if the byte is data.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool IsDropped(byte b, ref YencContext context, ref bool escape, bool bareLineFeeds)
    {
        switch (b)
        {
            case (byte)'\r':
                context = context == YencContext.Dot ? YencContext.DotCr : YencContext.Cr;
                return true;
            case (byte)'\n':
                context = context == YencContext.Cr ? YencContext.LineStart
                    : bareLineFeeds ? YencContext.LineFeed
                    : YencContext.Inside;
                return true;
            case (byte)'=':
                context = context is YencContext.LineStart or YencContext.Dot or YencContext.LineFeed
                    ? YencContext.Equals
                    : YencContext.Inside;
                escape = true;
                return true;
            case (byte)'.' when context == YencContext.LineStart:
                context = YencContext.Dot;
                return true;
            default:
                return false;
        }
    }
}
