using System.Globalization;

namespace Sluice.Usenet.Media.Subtitles;

/// <summary>Reads and writes times: <c>01:02:03,456</c> (SubRip), <c>1:02:03.45</c> (SubStation), <c>[01:]02:03.456</c> (WebVTT). Pure.</summary>
internal static class CueTime
{
    /// <summary>Maximum time in milliseconds. No film is that long, so a later time is invalid.</summary>
    public const long Max = 100 * Hour - 1;

    private const long Hour = 60 * Minute;
    private const long Minute = 60 * Second;
    private const long Second = 1000;
    private const int MaxDigits = 3;

    /// <summary>Reads a time at the beginning of a string.</summary>
    /// <param name="text">The string; advances past the time if there is one.</param>
    public static bool TryTake(ref ReadOnlySpan<char> text, out long milliseconds)
    {
        milliseconds = 0;
        var rest = text;
        if (!TryTakeNumber(ref rest, out var first, out _) || !TryTakeMark(ref rest, ":") || !TryTakeNumber(ref rest, out var second, out _))
            return false;
        var (hours, minutes, seconds) = (0L, first, second);
        if (TryTakeMark(ref rest, ":"))
        {
            if (!TryTakeNumber(ref rest, out var third, out _))
                return false;
            (hours, minutes, seconds) = (first, second, third);
        }

        var fraction = 0L;
        if (TryTakeMark(ref rest, ",."))
        {
            if (!TryTakeNumber(ref rest, out fraction, out var digits))
                return false;
            for (var digit = digits; digit < MaxDigits; digit++)
                fraction *= 10;
        }

        milliseconds = hours * Hour + minutes * Minute + seconds * Second + fraction;
        if (minutes > 59 || seconds > 59 || milliseconds > Max)
            return false;
        text = rest;
        return true;
    }

    /// <summary>Formats a time for WebVTT.</summary>
    public static string Format(long milliseconds) => string.Create(
        CultureInfo.InvariantCulture,
        $"{milliseconds / Hour:00}:{milliseconds / Minute % 60:00}:{milliseconds / Second % 60:00}.{milliseconds % Second:000}");

    private static bool TryTakeMark(ref ReadOnlySpan<char> text, string marks)
    {
        if (text.IsEmpty || !marks.Contains(text[0], StringComparison.Ordinal))
            return false;
        text = text[1..];
        return true;
    }

    /// <summary>Reads one to three digits. Spaces before them are skipped, because hand-made SubRip files align their times.</summary>
    private static bool TryTakeNumber(ref ReadOnlySpan<char> text, out long number, out int digits)
    {
        text = text.TrimStart(' ');
        (number, digits) = (0, 0);
        while (digits < text.Length && char.IsAsciiDigit(text[digits]))
        {
            if (digits == MaxDigits)
                return false;
            number = number * 10 + (text[digits++] - '0');
        }

        text = text[digits..];
        return digits > 0;
    }
}
