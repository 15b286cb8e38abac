namespace Sluice.Usenet.Media.Subtitles;

/// <summary>Reads SubStation files: <c>[Events]</c> with <c>Format: columns</c> and <c>Dialogue: fields</c>, separated by commas.</summary>
/// <remarks>Only the last field, the text, may contain commas.</remarks>
internal static class SubStationReader
{
    // SubStation has ten columns.
    private const int MaxColumns = 32;

    // Enough to find the first section after the authors' comments.
    private const int SearchedHead = 4096;

    private static readonly string[] UsualColumns = ["Layer", "Start", "End", "Style", "Name", "MarginL", "MarginR", "MarginV", "Effect", "Text"];

    /// <summary>Whether a string is a SubStation file.</summary>
    public static bool Recognizes(ReadOnlySpan<char> text)
    {
        var head = text[..Math.Min(text.Length, SearchedHead)];
        return head.Contains("[Script Info]", StringComparison.OrdinalIgnoreCase)
            || head.Contains("[Events]", StringComparison.OrdinalIgnoreCase)
            || head.StartsWith("Dialogue:", StringComparison.OrdinalIgnoreCase);
    }

    public static void Read(ReadOnlySpan<char> text, CueList cues)
    {
        var columns = Columns.Of(UsualColumns);
        var isEvents = true;
        foreach (var line in text.EnumerateLines())
        {
            if (cues.IsFull)
                return;
            var rest = line.TrimStart();
            if (rest.StartsWith("["))
                isEvents = rest.StartsWith("[Events]", StringComparison.OrdinalIgnoreCase);
            else if (isEvents && TryTakeName(ref rest, "Format:"))
                columns = Columns.Of([.. rest.ToString().Split(',', MaxColumns + 1, StringSplitOptions.TrimEntries)]) ?? columns;
            else if (TryTakeName(ref rest, "Dialogue:") && columns is not null)
                columns.Read(rest, cues);
        }
    }

    /// <summary>Returns the text of an event as Matroska stores it: without the times, so the text is the ninth field.</summary>
    public static string TextOfBlock(ReadOnlySpan<char> block)
    {
        for (var field = 0; field < 8; field++)
        {
            var comma = block.IndexOf(',');
            if (comma < 0)
                return "";
            block = block[(comma + 1)..];
        }

        return CueText.OfSubStation(block);
    }

    private static bool TryTakeName(ref ReadOnlySpan<char> line, string name)
    {
        if (!line.StartsWith(name, StringComparison.OrdinalIgnoreCase))
            return false;
        line = line[name.Length..];
        return true;
    }

    /// <summary>The positions of the columns in use.</summary>
    private sealed record Columns(int Start, int End, int Text)
    {
        /// <summary>Finds the columns; null unless all are present and the text is last.</summary>
        public static Columns? Of(string[] names)
        {
            var found = new Columns(IndexOf(names, "Start"), IndexOf(names, "End"), IndexOf(names, "Text"));
            return names.Length <= MaxColumns && found.Start >= 0 && found.End >= 0 && found.Text == names.Length - 1 ? found : null;
        }

        public void Read(ReadOnlySpan<char> fields, CueList cues)
        {
            var (start, end) = (-1L, -1L);
            for (var column = 0; column < Text; column++)
            {
                var comma = fields.IndexOf(',');
                if (comma < 0)
                    return;
                var field = fields[..comma].Trim();
                if (column == Start && CueTime.TryTake(ref field, out var time))
                    start = time;
                else if (column == End && CueTime.TryTake(ref field, out time))
                    end = time;
                fields = fields[(comma + 1)..];
            }

            if (start >= 0)
                cues.Add(start, end, CueText.OfSubStation(fields));
        }

        private static int IndexOf(string[] names, string name) => Array.FindIndex(names, found => found.Equals(name, StringComparison.OrdinalIgnoreCase));
    }
}
