using System.Collections.Immutable;
using System.Globalization;

namespace Sluice.Tools.MockNntpServer.Faults;

/// <summary>
/// The articles that a fault affects: a share of all (<c>0.01</c>, <c>1%</c>, <c>1.0</c>), or a list of parts (<c>17,200-203</c>;
/// <c>2:17</c> for the second file), or one message-id. Immutable.
/// </summary>
public sealed class ArticleSelection
{
    private readonly ImmutableArray<Range> _ranges;
    private readonly string? _messageId;

    private ArticleSelection(double rate, ImmutableArray<Range> ranges, string? messageId)
    {
        Rate = rate;
        _ranges = ranges;
        _messageId = messageId;
    }

    public static ArticleSelection None { get; } = new(0, [], null);

    public static ArticleSelection All { get; } = new(1, [], null);

    /// <summary>Share of the listed articles, 0 to 1.</summary>
    public double Rate { get; }

    /// <summary>Selects a share of all articles, placed by the seed.</summary>
    public static ArticleSelection Share(double rate)
    {
        if (double.IsNaN(rate) || rate < 0 || rate > 1)
            throw new ArgumentOutOfRangeException(nameof(rate), rate, "A share lies between 0 and 1.");
        return new ArticleSelection(rate, [], null);
    }

    /// <summary>Selects one article by name, without angle brackets.</summary>
    public static ArticleSelection Article(string messageId) => new(1, [], messageId);

    public static ArticleSelection Parts(params ReadOnlySpan<int> parts)
    {
        var ranges = ImmutableArray.CreateBuilder<Range>(parts.Length);
        foreach (var part in parts)
            ranges.Add(new Range(null, part, part));
        return new ArticleSelection(1, ranges.DrainToImmutable(), null);
    }

    /// <remarks>A share has a dot, a percent sign, or is 0. A plain <c>1</c> is the first part.</remarks>
    public static ArticleSelection Parse(string text)
    {
        text = text.Trim();
        if (text.Length > 0 && text.Contains('@', StringComparison.Ordinal))
            return Article(text.TrimStart('<').TrimEnd('>'));

        var percent = text.EndsWith('%');
        if (text == "0" || percent || text.Contains('.', StringComparison.Ordinal))
        {
            if (!double.TryParse(percent ? text[..^1] : text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var rate)
                || (rate /= percent ? 100 : 1) > 1)
                throw new FormatException($"\"{text}\" is no share between 0 and 1.");
            return Share(rate);
        }

        return new ArticleSelection(1, [.. text.Split(',').Select(item => ParseRange(item, text))], null);
    }

    internal bool Allows(string messageId, int file, int part)
    {
        if (_messageId is not null)
            return _messageId == messageId;
        if (_ranges.IsEmpty)
            return Rate > 0;
        foreach (var range in _ranges)
        {
            if ((range.File is null || range.File == file) && part >= range.First && part <= range.Last)
                return true;
        }

        return false;
    }

    private static Range ParseRange(string item, string text)
    {
        var colon = item.IndexOf(':', StringComparison.Ordinal);
        var dash = item.IndexOf('-', StringComparison.Ordinal);
        var file = colon < 0 ? (int?)null : ParseNumber(item[..colon], text);
        var first = ParseNumber(item[(colon + 1)..(dash < 0 ? item.Length : dash)], text);
        return new Range(file, first, dash < 0 ? first : ParseNumber(item[(dash + 1)..], text));
    }

    private static int ParseNumber(string item, string text) =>
        int.TryParse(item.Trim(), NumberStyles.None, CultureInfo.InvariantCulture, out var number)
            ? number
            : throw new FormatException($"\"{text}\" is neither a share (0.01) nor a list of articles (17,200-203).");

    private readonly record struct Range(int? File, int First, int Last);
}
