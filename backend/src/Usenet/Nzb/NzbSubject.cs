namespace Sluice.Usenet.Nzb;

/// <summary>A subject parsed by convention: <c>[3/12] - "film.part03.rar" yEnc (1/74) 52428800</c>.</summary>
/// <param name="FileName">The file name; null if absent.</param>
/// <param name="Segments">The unreliable number of segments: the m of <c>(n/m)</c>, or 0.</param>
/// <param name="FileNumber">The n of <c>[n/m]</c>, or 0.</param>
/// <param name="Files">The m of <c>[n/m]</c>, or 0.</param>
public readonly record struct NzbSubject(string? FileName, int Segments, int FileNumber, int Files)
{
    /// <summary>Parses a subject; never fails.</summary>
    public static NzbSubject Parse(string subject)
    {
        ArgumentNullException.ThrowIfNull(subject);

        // Some indexers escape twice, so quotes arrive as an entity.
        if (subject.Contains("&quot;", StringComparison.Ordinal))
            subject = subject.Replace("&quot;", "\"", StringComparison.Ordinal);

        var (_, segments) = LastCounter(subject, '(', ')');
        var (number, files) = FirstCounter(subject, '[', ']');
        return new NzbSubject(QuotedName(subject) ?? LastTokenWithExtension(subject), segments, number, files);
    }

    /// <summary>Returns the last <c>(n/m)</c> of a subject; zeros if absent.</summary>
    public static (int Number, int Total) CounterOf(string subject)
    {
        ArgumentNullException.ThrowIfNull(subject);
        return LastCounter(subject, '(', ')');
    }

    // Returns the last quoted text, preferably with an extension, because quoted titles may precede the name.
    private static string? QuotedName(string subject)
    {
        string? best = null;
        var bestHasExtension = false;
        var open = subject.IndexOf('"', StringComparison.Ordinal);
        while (open >= 0)
        {
            var close = subject.IndexOf('"', open + 1);
            if (close < 0)
                break;

            var name = subject[(open + 1)..close].Trim();
            var hasExtension = HasExtension(name);
            if (name.Length > 0 && (hasExtension || !bestHasExtension))
                (best, bestHasExtension) = (name, hasExtension);
            open = subject.IndexOf('"', close + 1);
        }

        return best;
    }

    private static string? LastTokenWithExtension(string subject)
    {
        var tokens = subject.Split([' ', '\t', '\r', '\n'], StringSplitOptions.RemoveEmptyEntries);
        for (var i = tokens.Length - 1; i >= 0; i--)
        {
            var token = tokens[i].Trim('"', '\'', '<', '>', ',', ';', ':', '|');
            if (HasExtension(token) && !token.Contains("://", StringComparison.Ordinal) && !token.Contains('@', StringComparison.Ordinal))
                return token;
        }

        return null;
    }

    // 2 to 5 letters and digits after the last dot, with at least one letter unless it is a volume number like 001.
    private static bool HasExtension(ReadOnlySpan<char> name)
    {
        var dot = name.LastIndexOf('.');
        if (dot < 1)
            return false;

        var extension = name[(dot + 1)..];
        if (extension.Length is < 2 or > 5)
            return false;

        var letters = 0;
        foreach (var letter in extension)
        {
            if (!char.IsAsciiLetterOrDigit(letter))
                return false;
            letters += char.IsAsciiLetter(letter) ? 1 : 0;
        }

        return letters > 0 || extension.Length == 3;
    }

    private static (int Number, int Total) LastCounter(ReadOnlySpan<char> subject, char open, char close)
    {
        for (var end = subject.LastIndexOf(close); end > 0; end = subject[..end].LastIndexOf(close))
        {
            var start = subject[..end].LastIndexOf(open);
            if (start < 0)
                break;
            if (ReadCounter(subject[(start + 1)..end]) is { } counter)
                return counter;
        }

        return default;
    }

    private static (int Number, int Total) FirstCounter(ReadOnlySpan<char> subject, char open, char close)
    {
        for (var start = subject.IndexOf(open); start >= 0;)
        {
            var rest = subject[(start + 1)..];
            var end = rest.IndexOf(close);
            if (end < 0)
                break;
            if (ReadCounter(rest[..end]) is { } counter)
                return counter;
            var next = rest.IndexOf(open);
            if (next < 0)
                break;
            start += 1 + next;
        }

        return default;
    }

    private static (int Number, int Total)? ReadCounter(ReadOnlySpan<char> text)
    {
        var slash = text.IndexOf('/');
        return slash > 0
            && int.TryParse(text[..slash].Trim(), System.Globalization.NumberStyles.None, null, out var number)
            && int.TryParse(text[(slash + 1)..].Trim(), System.Globalization.NumberStyles.None, null, out var total)
            ? (number, total)
            : null;
    }
}
