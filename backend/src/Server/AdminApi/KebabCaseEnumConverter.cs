using System.Text.Json;
using System.Text.Json.Serialization;

namespace Sluice.Server.AdminApi;

/// <summary>Writes enums as words: <c>DownloadClient</c> is <c>download-client</c>. Refuses numbers.</summary>
internal sealed class KebabCaseEnumConverter<T>() : JsonStringEnumConverter<T>(JsonNamingPolicy.KebabCaseLower, allowIntegerValues: false)
    where T : struct, Enum;
