using System.Buffers.Text;
using System.Globalization;
using System.Text;
using Sluice.Server.Library;

namespace Sluice.Server.AdminApi;

/// <summary>Where a page of a list of files begins, as text (ADM-4): the place of the last entry of the page before.</summary>
internal static class ListCursor
{
    private const int MaxLength = 4096;

    /// <summary>Writes a place.</summary>
    public static string Write(ListPlace place) => string.Create(
        CultureInfo.InvariantCulture, $"{place.Rank}.{place.Row}.{Base64Url.EncodeToString(Encoding.UTF8.GetBytes(place.Text))}");

    /// <summary>Reads what <see cref="Write"/> wrote. False for any other text.</summary>
    public static bool TryRead(string text, out ListPlace place)
    {
        place = default;
        if (text.Length > MaxLength || text.Split('.') is not [var rank, var row, var key] || !Base64Url.IsValid(key)
            || !long.TryParse(rank, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var rankNumber)
            || !long.TryParse(row, NumberStyles.None, CultureInfo.InvariantCulture, out var rowNumber))
        {
            return false;
        }

        place = new ListPlace(rankNumber, Encoding.UTF8.GetString(Base64Url.DecodeFromChars(key)), rowNumber);
        return true;
    }
}
