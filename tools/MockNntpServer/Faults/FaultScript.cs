using System.Text.Json;

namespace Sluice.Tools.MockNntpServer.Faults;

/// <summary>
/// Parses faults from JSON lines: <c>{"kind":"body.stall","offset":65536,"ms":10000,"rate":0.01,"provider":0}</c>. Skips empty lines and
/// lines that begin with <c>#</c>.
/// </summary>
/// <remarks>
/// Fields: <c>kind</c>, <c>provider</c> (from 0), <c>connection</c> (from 1), <c>article</c> (a number, or text for <see
/// cref="ArticleSelection.Parse"/>), <c>verb</c>, <c>rate</c>, <c>count</c>, <c>tries</c>, <c>offset</c>, <c>limit</c>, <c>ms</c>,
/// <c>text</c>, <c>close</c>, <c>after_ms</c>, <c>until_ms</c>, <c>everywhere</c>. Each sets the property of <see cref="MockFault"/> with
/// the same meaning.
/// </remarks>
public static class FaultScript
{
    /// <exception cref="FormatException">A line is invalid. The message has its number and the reason.</exception>
    public static IReadOnlyList<MockFault> Parse(string script)
    {
        var faults = new List<MockFault>();
        var number = 0;
        foreach (var line in script.Split('\n', StringSplitOptions.TrimEntries))
        {
            number++;
            if (line.Length == 0 || line[0] == '#')
                continue;
            try
            {
                faults.Add(ParseLine(line));
            }
            catch (Exception e) when (e is JsonException or InvalidOperationException or FormatException or OverflowException)
            {
                throw new FormatException($"Line {number} of the fault script: {e.Message}", e);
            }
        }

        return faults;
    }

    private static MockFault ParseLine(string line)
    {
        using var json = JsonDocument.Parse(line);
        var kind = json.RootElement.TryGetProperty("kind", out var name) ? name.GetString() : throw new FormatException("\"kind\" is missing.");
        if (!FaultNames.TryParse(kind!, out var known))
            throw new FormatException($"\"{kind}\" is no kind of fault.");
        var fault = new MockFault { Kind = known };
        foreach (var field in json.RootElement.EnumerateObject())
            fault = Apply(fault, field.Name, field.Value);
        if (fault.Rate is < 0 or > 1)
            throw new FormatException("\"rate\" lies between 0 and 1.");
        if (fault is { Provider: < 0 } or { Connection: < 1 } or { Count: < 0 } or { Tries: < 0 } or { Offset: < 0 } or { Limit: < 1 })
            throw new FormatException("A number is too small.");
        return fault;
    }

    private static MockFault Apply(MockFault fault, string field, JsonElement value) => field switch
    {
        "kind" => fault,
        "provider" => fault with { Provider = value.GetInt32() },
        "connection" => fault with { Connection = value.GetInt32() },
        "article" => fault with { Articles = ArticleSelection.Parse(value.ValueKind == JsonValueKind.Number ? value.GetRawText() : value.GetString()!) },
        "verb" => fault with { Verb = value.GetString()!.ToUpperInvariant() },
        "rate" => fault with { Rate = value.GetDouble() },
        "count" => fault with { Count = value.GetInt32() },
        "tries" => fault with { Tries = value.GetInt32() },
        "offset" => fault with { Offset = value.GetInt32() },
        "limit" => fault with { Limit = value.GetInt32() },
        "ms" => fault with { Duration = Milliseconds(value) },
        "text" => fault with { Text = value.GetString() },
        "close" => fault with { CloseAfterStall = value.GetBoolean() },
        "after_ms" => fault with { After = Milliseconds(value) },
        "until_ms" => fault with { Until = Milliseconds(value) },
        "everywhere" => fault with { Everywhere = value.GetBoolean() },
        _ => throw new FormatException($"\"{field}\" is no field of a fault."),
    };

    private static TimeSpan Milliseconds(JsonElement value) =>
        value.GetDouble() is >= 0 and <= 86_400_000 and var ms ? TimeSpan.FromMilliseconds(ms) : throw new FormatException("Times lie between 0 and a day.");
}
